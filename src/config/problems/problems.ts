import { isAbsolute, relative } from 'node:path';
import { ExpectedError } from '../../common/expected-error.ts';
import { printable } from './quote.ts';

/** Both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Never holds a secret. */
export interface Problem {
  /** A file, relative to the working folder if it lies inside; or an environment variable. */
  readonly source: string;
  readonly place: {
    /** `null` for an environment variable, and for a file that could not be read. */
    readonly position: Position | null;
    /** Dotted; empty for the source as a whole. */
    readonly path: string;
  };
  readonly message: string;
}

/** About a whole source, or a line of it. */
export function problemOf(
  source: string,
  message: string,
  line: number | null = null,
): Problem {
  return {
    source,
    place: { position: line === null ? null : { line, column: 1 }, path: '' },
    message,
  };
}

export class ConfigError extends ExpectedError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.problems = problems;
  }
}

/** A command has read a section that has mistakes; another command may not need it. */
export class UnusableSection extends ExpectedError {
  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'));
  }
}

/** `config/gateway.yaml:12:5 http.maxBodyBytes: must be a size such as 1MiB, is "lots"`. */
export function formatProblem({ source, place, message }: Problem): string {
  const path = place.path === '' ? '' : ` ${place.path}`;
  return `${formatPlace(source, place.position)}${path}: ${message}`;
}

/** `config/gateway.yaml:12:5`. */
export function formatPlace(file: string, position: Position | null): string {
  return position === null
    ? file
    : `${file}:${position.line}:${position.column}`;
}

/** Problems without a position come first. */
export function byPosition(
  { place: { position: a } }: Problem,
  { place: { position: b } }: Problem,
): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}

export function nameOfFile(file: string, cwd: string): string {
  const path = relative(cwd, file);
  const inside =
    path !== '' &&
    path !== '..' &&
    !/^\.\.[/\\]/.test(path) &&
    !isAbsolute(path);
  return printable(inside ? path : file);
}
