import type { Fault } from '@storegate/openapi';
import { REFERENCE_PATH } from '../common/reserved-paths.ts';
import { maskedFault, maskSecrets } from '../common/secret-mask.ts';
import { CATALOGUE, type Code, ERROR_CODES } from './catalogue.ts';

/** The default message of each code: the title and the advice without backticks. */
const MESSAGES = Object.fromEntries(
  ERROR_CODES.map(({ code, title, advice }) => [code, `${title} ${advice.replaceAll('`', '')}`]),
) as Readonly<Record<Code, string>>;

/** The code's entry on the reference page. */
const helpOf = (code: Code) => `${REFERENCE_PATH}/#errors-${code}`;

/** The Link header of each code (RFC 8288, rel="help"). */
const LINKS = Object.fromEntries(ERROR_CODES.map(({ code }) => [code, `<${helpOf(code)}>; rel="help"`])) as Readonly<
  Record<Code, string>
>;

interface RefusalOptions {
  /** Replaces the code's default message. Never holds a submitted value or a secret, unless `echoes`. */
  readonly message?: string;
  /** The message quotes the request. Records for operators get the code's title instead. */
  readonly echoes?: boolean;
  readonly details?: readonly Fault[];
  /** More headers of the response, flat: name, value, … */
  readonly headers?: readonly string[];
  /** Closes the connection after the response, because the rest of the request is useless or cannot be trusted. */
  readonly close?: boolean;
  /** The deciding rule, for operators only. Never holds a submitted value or a secret. */
  readonly reason?: string;
}

/**
 * Refuses a request; the client must act. Stages throw or return it, and `reply/answer.ts` sends it. Not an Error: a stack trace would
 * cost more than the rest of the refusal. Masks what looks like a key in everything that it holds.
 */
export class Refusal {
  readonly code: Code;
  readonly status: number;
  readonly message: string;
  /** The message for records of the gateway. */
  readonly recorded: string;
  readonly details: readonly Fault[] | null;
  readonly headers: readonly string[];
  readonly close: boolean;
  readonly reason: string | null;
  #body: string | null = null;

  constructor(
    code: Code,
    { message, echoes = false, details, headers = [], close = false, reason }: RefusalOptions = {},
  ) {
    this.code = code;
    this.status = CATALOGUE[code].status;
    this.message = message === undefined ? MESSAGES[code] : maskSecrets(message);
    this.recorded = echoes ? CATALOGUE[code].title : this.message;
    this.details = details?.map(maskedFault) ?? null;
    this.headers = headers.length === 0 ? headers : headers.map(maskSecrets);
    this.close = close;
    this.reason = reason === undefined ? null : maskSecrets(reason);
  }

  /** The value of the Link header to the code's entry on the reference page. */
  get link(): string {
    return LINKS[this.code];
  }

  /** The contract's Error object as JSON; `details` only if there are any. */
  get body(): string {
    this.#body ??= JSON.stringify(this.#members());
    return this.#body;
  }

  /** The members of RFC 9457 and of `body`. */
  get problem(): string {
    const { code, message } = this;
    return JSON.stringify({ type: helpOf(code), title: CATALOGUE[code].title, detail: message, ...this.#members() });
  }

  #members(): object {
    const { code, message, status, details } = this;
    return details ? { code, message, status, details } : { code, message, status };
  }
}
