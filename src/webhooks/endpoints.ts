import { shortDigest } from '../common/digest.ts';
import type { WebhookSettings } from '../config/config.ts';

/** A receiver of the settings. */
export interface Endpoint {
  /** A digest of its URL: what is kept of it elsewhere, and what people call it by. */
  readonly id: string;
  /** Secret: path and query may let anybody post there. */
  readonly url: string;
  /** Its host and port, which may be shown. */
  readonly host: string;
  /** Whether it wants events of this type. */
  readonly wants: (type: string) => boolean;
}

/** Whether events are told to anybody. */
export function hasReceivers({ url, endpoints }: Pick<WebhookSettings, 'url' | 'endpoints'>): boolean {
  return url !== null || endpoints.length > 0;
}

/** All receivers. Nothing is ever sent anywhere else. */
export function endpointsOf({ url, events, endpoints }: WebhookSettings): readonly Endpoint[] {
  const all = url === null ? endpoints : [{ url, events }, ...endpoints];
  return all.map(({ url, events }) => {
    const { href, host } = new URL(url);
    const wanted = new Set<string>(events);
    return { id: shortDigest(href), url: href, host, wants: (type) => wanted.size === 0 || wanted.has(type) };
  });
}
