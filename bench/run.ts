import { installPackages } from '../test/support/packages.ts';
import { type Options, readArguments, UsageError, usage } from './arguments.ts';
import { installExecutables } from './executables.ts';

try {
  await run(readArguments(process.argv.slice(2)));
} catch (error) {
  process.exitCode = error instanceof UsageError ? 2 : 1;
  console.error(describe(error));
}

function describe(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${usage}`;
  if (!(error instanceof Error)) return String(error);
  return error.name === 'WrongAnswer' ? error.message : (error.stack ?? error.message);
}

async function run(options: Options): Promise<void> {
  if (options.mode === 'help') return console.log(usage);
  installPackages(import.meta.dirname);
  if (options.mode === 'install') return installExecutables();
  if (options.mode === 'soak') return await (await import('./soak.ts')).soak(options, say);
  await compareAndReport(options);
}

async function compareAndReport(options: Options): Promise<void> {
  const { compare } = await import('./comparison.ts');
  const comparison = await compare(options, say);
  const { toMarkdown } = await import('./report.ts');
  console.log(`\n${toMarkdown(comparison)}`);
  if (!comparison.whole) return;
  const { writeDocuments } = await import('./documents.ts');
  writeDocuments(comparison);
  say('wrote bench/RESULTS.md, results.json and results.svg: run `npm run docs`');
}

function say(line: string): void {
  console.error(line);
}
