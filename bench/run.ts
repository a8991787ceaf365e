import { installPackages } from '../test/support/packages.ts';

try {
  installPackages(import.meta.dirname);
  const { readArguments } = await import('./arguments.ts');
  const options = readArguments(process.argv.slice(2));
  if (options.soak === 0) {
    const { compare } = await import('./comparison.ts');
    const { toMarkdown } = await import('./report.ts');
    const comparison = await compare(options);
    console.log(`\n${toMarkdown(comparison)}`);
    if (options.isWhole) (await import('./documents.ts')).writeDocuments(comparison);
  } else await (await import('./soak.ts')).soak(options);
} catch (error) {
  process.exitCode = 1;
  console.error((error as Error).message);
}
