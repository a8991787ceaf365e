import { createHmac } from 'node:crypto';
import { type CheckedLines, checkedLines } from '@storegate/http1';

/** By minor version of HTTP, in which the message was received. */
type ByVersion<T> = readonly [http10: T, http11: T];

/**
 * RFC 9110 section 7.6.3. The name shows nothing of the host, and differs between gateways in
 * series.
 */
export class Via {
  readonly values: ByVersion<string>;
  readonly lines: ByVersion<CheckedLines>;
  readonly #name: string;

  /** `secret`: the same in all processes of a gateway, and in no other gateway. */
  constructor(secret: Uint8Array) {
    this.#name = `storegate-${createHmac('sha256', secret).update('Via').digest('hex').slice(0, 8)}`;
    this.values = [`1.0 ${this.#name}`, `1.1 ${this.#name}`];
    this.lines = [
      checkedLines(['Via', this.values[0]]),
      checkedLines(['Via', this.values[1]]),
    ];
  }

  /** Whether a message with this value has passed this gateway. */
  isIn(value: string): boolean {
    return value.includes(this.#name);
  }
}
