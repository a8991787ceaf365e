import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Measured in the embedded state itself; a million subjects would take minutes through HTTP. */
export interface SubjectFigures {
  readonly subjects: number;
  /** While all are active. */
  readonly bytesPerSubject: number;
  /** Share of that memory still held after all have left. */
  readonly keptAfterLeaving: number;
  /** CPU microseconds among a thousand subjects, and among all. */
  readonly admissionOfFew: number;
  readonly admissionOfMany: number;
}

/** In a separate process with a separate heap. */
export async function measureSubjects(
  node: string,
  say: (line: string) => void,
): Promise<SubjectFigures> {
  say('a million subjects in the embedded state');
  const script = new URL('subjects-in-process.ts', import.meta.url).pathname;
  const args = ['--disable-warning=ExperimentalWarning', '--expose-gc', script];
  const { stdout } = await run(node, args, { timeout: 120_000 });
  return JSON.parse(stdout) as SubjectFigures;
}
