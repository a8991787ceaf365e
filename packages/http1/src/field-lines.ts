import { oneByte } from './one-byte.ts';

// Importing node:http loads undici, 14 MB.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** In bytes: copying a larger body costs more than a second write. */
export const ONE_WRITE: number = 32 * 1024;

/** One character per byte: any above 0xff would lose bits and could become a line end. */
export const VALUE: RegExp = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Throws for a value that would not stay one value. */
export function checkedValue(name: string, value: string): string {
  if (!VALUE.test(value))
    throw new Error(
      `the header ${name} has a character that no header can have`,
    );
  return value;
}

declare class Mark {
  protected readonly checked: true;
}

export type CheckedLines = string & Mark;

const CONTENT_LENGTH = oneByte('Content-Length');

export class FieldLines {
  /** One character per byte, without the empty line. */
  text = '';
  dated = false;
  sized = false;
  length = 0;

  /** The name is trusted. Throws for a value that would not stay one value. */
  add(name: string, value: string): void {
    this.addKnown(name, checkedValue(name, value));
  }

  /** Checked before, or only digits and letters. */
  addKnown(name: string, value: string): void {
    this.text += `${name}: ${value}\r\n`;
  }

  addNumber(name: string, value: number): void {
    this.text += `${name}: ${value}\r\n`;
  }

  addAll(list: readonly string[]): void {
    for (let i = 0; i < list.length; i += 2) this.add(list[i]!, list[i + 1]!);
  }

  /** Flat, from a parsed message: parsing has checked them. */
  addRead(list: readonly string[]): void {
    const { text, dated, length } = prepared.get(list) ?? readLines(list);
    this.text += text;
    this.dated ||= dated;
    if (length !== null) this.setLength(length);
  }

  addLines(lines: CheckedLines): void {
    this.text += lines;
  }

  addLength(bytes: number): void {
    this.addNumber(CONTENT_LENGTH, bytes);
    this.setLength(bytes);
  }

  private setLength(bytes: number): void {
    this.sized = true;
    this.length = bytes;
  }
}

interface ReadLines {
  readonly text: string;
  readonly dated: boolean;
  readonly length: number | null;
}

const prepared = new WeakMap<readonly string[], ReadLines>();

/** For a list that `addRead` gets more than once. */
export function prepareRead(list: readonly string[]): void {
  const lines = readLines(list);
  prepared.set(list, { ...lines, text: oneByte(lines.text) });
}

function readLines(list: readonly string[]): ReadLines {
  let text = '';
  let dated = false;
  let length: number | null = null;
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i]!;
    const value = list[i + 1]!;
    text += `${name}: ${value}\r\n`;
    if (name === 'date') dated = true;
    else if (name === 'content-length') length = Number(value);
  }
  return { text, dated, length };
}

/** `list` is flat: name, value, … Throws for an invalid value. */
export function checkedLines(list: readonly string[]): CheckedLines {
  const lines = new FieldLines();
  lines.addAll(list);
  return oneByte(lines.text) as CheckedLines;
}

const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([status, reason]) => [
    Number(status),
    `HTTP/1.1 ${status} ${reason}\r\n`,
  ]),
);

/** An empty `reason` selects the standard phrase. */
export function statusLine(status: number, reason: string): string {
  const usual = reason === '' ? STATUS_LINES.get(status) : undefined;
  if (usual !== undefined) return usual;
  if (!VALUE.test(reason))
    throw new Error('the reason phrase has a character that it cannot have');
  return `HTTP/1.1 ${status} ${reason}\r\n`;
}

export class Closing {
  readonly #keepAlive: string;
  #second = -1;
  #date = '';

  /** In milliseconds. */
  constructor(idle: number) {
    const seconds = Math.floor(idle / 1_000);
    this.#keepAlive = `Connection: keep-alive\r\n${seconds > 0 ? `Keep-Alive: timeout=${seconds}\r\n` : ''}\r\n`;
  }

  /** `dated`: the response already has a Date (RFC 9110 section 6.6.1). */
  text(persistent: boolean, dated: boolean): string {
    const rest = persistent ? this.#keepAlive : 'Connection: close\r\n\r\n';
    return dated ? rest : this.#dateLine() + rest;
  }

  #dateLine(): string {
    const second = Math.floor(Date.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = `Date: ${new Date(second * 1_000).toUTCString()}\r\n`;
    }
    return this.#date;
  }
}

/** RFC 9112 section 7.1. */
export function chunkText(bytes: Buffer): string {
  return `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`;
}

export const LAST_CHUNK = '0\r\n\r\n';
