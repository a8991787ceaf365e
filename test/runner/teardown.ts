import { packagesOf, skippedSuites } from './programs.ts';

/** Says at the end of a run which programs were missing, what was skipped without them, and how to install them. */
export default function tearDown(): void {
  const { suites, programs } = skippedSuites();
  if (suites === 0) return;
  const command = `apt-get install --no-install-recommends ${packagesOf(programs).join(' ')}`;
  process.stderr.write(`Skipped ${suites} suites for want of ${programs.join(', ')}. To run them: ${command}\n`);
}
