import { installCommand, skippedSuites } from './programs.ts';

/** Environment variable: the line about installed packages of this run. */
export const INSTALLED = 'STOREGATE_TEST_INSTALLED';

export default function tearDown(): void {
  const lines = [process.env[INSTALLED]];
  const skipped = [...skippedSuites()];
  if (skipped.length > 0) {
    const counts = skipped.map(
      ([name, suites]) => `${name} (${suites} ${suites === 1 ? 'suite' : 'suites'})`,
    );
    lines.push(
      `Skipped for want of ${counts.join(', ')}. Install: ${installCommand(skipped.map(([name]) => name))}`,
    );
  }
  for (const line of lines) if (line) process.stderr.write(`${line}\n`);
}
