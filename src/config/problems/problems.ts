import { isAbsolute, relative } from 'node:path';
import { ExpectedError } from '../../common/expected-error.ts';
import { printable } from './quote.ts';

/** A place in a text; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One mistake in the configuration. Never holds a secret. */
export interface Problem {
  /** A file, relative to the working folder if it lies inside; or the name of an environment variable. */
  readonly source: string;
  readonly place: {
    /** `null` for an environment variable, and for a file that could not be read. */
    readonly position: Position | null;
    /** Dotted, such as `plans.free.windows[0].limit`; empty for the source as a whole. */
    readonly path: string;
  };
  /** The mistake and the valid values. */
  readonly message: string;
}

/** All mistakes of the configuration at once. */
export class ConfigError extends ExpectedError {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.problems = problems;
  }
}

/** One line: `config/gateway.yaml:12:5 http.maxBodyBytes: must be a size such as 1MiB, is "lots"`. */
export function formatProblem({ source, place, message }: Problem): string {
  const position = place.position === null ? '' : `:${formatPosition(place.position)}`;
  const path = place.path === '' ? '' : ` ${place.path}`;
  return `${source}${position}${path}: ${message}`;
}

export function formatPosition({ line, column }: Position): string {
  return `${line}:${column}`;
}

/** Sorts by position; problems without a position come first. */
export function byPosition({ place: { position: a } }: Problem, { place: { position: b } }: Problem): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}

/** The name of a file in problems: relative to `cwd` if it lies inside, else absolute. */
export function nameOfFile(file: string, cwd: string): string {
  const path = relative(cwd, file);
  const inside = path !== '' && path !== '..' && !/^\.\.[/\\]/.test(path) && !isAbsolute(path);
  return printable(inside ? path : file);
}
