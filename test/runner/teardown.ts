import { installCommand, skippedSuites } from './programs.ts';

/** The environment variable with the line about what the set-up of this run has installed. */
export const INSTALLED = 'STOREGATE_TEST_INSTALLED';

/** Ends a run with what was installed for it, and with the programs for want of which suites were skipped. */
export default function tearDown(): void {
  const lines = [process.env[INSTALLED]];
  const skipped = [...skippedSuites()];
  if (skipped.length > 0) {
    const counts = skipped.map(([name, suites]) => `${name} (${suites} ${suites === 1 ? 'suite' : 'suites'})`);
    lines.push(`Skipped for want of ${counts.join(', ')}. Install: ${installCommand(skipped.map(([name]) => name))}`);
  }
  for (const line of lines) if (line) process.stderr.write(`${line}\n`);
}
