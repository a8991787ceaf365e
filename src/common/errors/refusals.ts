import type { Fault } from '@storegate/openapi';
import { REFERENCE_PATH } from '../reserved-paths.ts';
import { maskedFault, maskSecrets } from '../secret-mask.ts';
import { CATALOGUE, type Code, ERROR_CODES } from './catalogue.ts';

const MESSAGES = Object.fromEntries(
  ERROR_CODES.map(({ code, title, advice }) => [
    code,
    `${title} ${advice.replaceAll('`', '')}`,
  ]),
) as Readonly<Record<Code, string>>;

const helpOf = (code: Code) => `${REFERENCE_PATH}/#errors-${code}`;

/** RFC 8288, rel="help". */
const LINKS = Object.fromEntries(
  ERROR_CODES.map(({ code }) => [code, `<${helpOf(code)}>; rel="help"`]),
) as Readonly<Record<Code, string>>;

/**
 * Of every 503. The stages that refuse a client with 429 or a ban know how long it waits. The
 * gateway cannot know when a backend responds again after a 502 or 504.
 */
const SOON: readonly string[] = ['Retry-After', '1'];
const NONE: readonly string[] = [];

interface RefusalOptions {
  /** Never holds a submitted value or a secret, unless `echoes`. */
  readonly message?: string;
  /** The message quotes the request. Records for operators get the code's title instead. */
  readonly echoes?: boolean;
  readonly details?: readonly Fault[];
  /** Flat: name, value, … */
  readonly headers?: readonly string[];
  /**
   * Closes the connection after the response, because the rest of the request is useless or cannot
   * be trusted.
   */
  readonly close?: boolean;
  /** For operators only. Never holds a submitted value or a secret. */
  readonly reason?: string;
}

/** Not an Error, because a stack trace is costly. Masks text that looks like a key. */
export class Refusal {
  readonly code: Code;
  readonly status: number;
  readonly message: string;
  readonly recorded: string;
  readonly details: readonly Fault[] | null;
  readonly headers: readonly string[];
  readonly close: boolean;
  readonly reason: string | null;
  #body: string | null = null;

  constructor(
    code: Code,
    {
      message,
      echoes = false,
      details,
      headers = CATALOGUE[code].status === 503 ? SOON : NONE,
      close = false,
      reason,
    }: RefusalOptions = {},
  ) {
    this.code = code;
    this.status = CATALOGUE[code].status;
    this.message =
      message === undefined ? MESSAGES[code] : maskSecrets(message);
    this.recorded = echoes ? CATALOGUE[code].title : this.message;
    this.details = details?.map(maskedFault) ?? null;
    this.headers = headers.length === 0 ? headers : headers.map(maskSecrets);
    this.close = close;
    this.reason = reason === undefined ? null : maskSecrets(reason);
  }

  get link(): string {
    return LINKS[this.code];
  }

  get body(): string {
    this.#body ??= JSON.stringify(this.#members());
    return this.#body;
  }

  /** RFC 9457, with the members of `body`. */
  get problem(): string {
    const { code, message } = this;
    return JSON.stringify({
      type: helpOf(code),
      title: CATALOGUE[code].title,
      detail: message,
      ...this.#members(),
    });
  }

  #members(): object {
    const { code, message, status, details } = this;
    return details
      ? { code, message, status, details }
      : { code, message, status };
  }
}

/** Reasons are few, so a flood allocates nothing. */
export function cachedRefusals(code: Code): (reason: string) => Refusal {
  const byReason = new Map<string, Refusal>();
  return (reason) => {
    const cached = byReason.get(reason);
    if (cached !== undefined) return cached;
    const refusal = new Refusal(code, { reason });
    byReason.set(reason, refusal);
    return refusal;
  };
}
