import type { WebhookType } from '../../../src/webhooks/event.ts';
import type { World } from '../world/world.ts';

/** Milliseconds until the receiver has responded. */
const USUAL_DELAY = 5;

export interface Delivered {
  /** True time. */
  readonly at: number;
  readonly id: string;
  readonly type: WebhookType;
  readonly timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: each type of event has fields of its own.
  readonly data: any;
}

/** The receiver of webhooks, which takes each id once. */
export class Receiver {
  readonly #world: World;
  readonly #ids = new Set<string>();
  readonly delivered: Delivered[] = [];
  isDown = false;

  constructor(world: World) {
    this.#world = world;
  }

  of(type: WebhookType): Delivered[] {
    return this.delivered.filter((one) => one.type === type);
  }

  /** As the global `fetch`. */
  readonly fetch = (
    _url: string,
    init: { headers: Record<string, string>; body: string },
  ): Promise<Response> => {
    const owner = this.#world.process;
    return new Promise((resolve, reject) => {
      this.#world.packet(USUAL_DELAY, owner, () => {
        if (this.isDown) {
          reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }));
          return;
        }
        this.#take(init.headers['webhook-id']!, init.body);
        resolve(new Response(null, { status: 204 }));
      });
    });
  };

  #take(id: string, body: string): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    this.delivered.push({ at: this.#world.now, id, ...JSON.parse(body) });
  }
}
