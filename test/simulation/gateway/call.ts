import type { Call } from '../../../src/gateway/wire/call.ts';

/**
 * A request that did not come over a wire: the part of `ServerCall` that the stages before the
 * backend use.
 */
export class SimulatedCall
  implements Pick<Call, 'method' | 'target' | 'minor' | 'framing' | 'fields' | 'peer'>
{
  readonly method = 'GET';
  readonly target: string;
  readonly minor = 1;
  readonly framing = 0;
  readonly fields: Call['fields'];
  readonly peer: string;
  readonly connection = {};
  readonly secure = false;
  readonly hasBody = false;
  readonly bodyBytes = 0;
  readonly bodyWhole = true;
  keepAlive = true;
  status = 0;
  left = false;
  #ended: (() => void)[] = [];

  constructor(target: string, peer: string, secret: string | null) {
    this.target = target;
    this.peer = peer;
    this.fields = { list: secret === null ? [] : ['X-API-Key', secret], meaning: null };
  }

  get begun(): boolean {
    return this.status !== 0;
  }

  whenEnded(ended: () => void): void {
    this.#ended.push(ended);
  }

  /** The whole response was sent, or the client left before. */
  finish(status: number | null): void {
    if (status === null) this.left = true;
    else this.status = status;
    for (const ended of this.#ended.splice(0)) ended();
  }
}
