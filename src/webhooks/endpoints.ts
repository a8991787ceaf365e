import { shortDigest } from '../common/digest.ts';
import type { WebhookSettings } from '../config/config.ts';

export interface Endpoint {
  readonly id: string;
  /** Secret: path and query may authorize posting. */
  readonly url: string;
  readonly host: string;
  readonly wants: (type: string) => boolean;
}

export function hasEndpoints({
  url,
  endpoints,
}: Pick<WebhookSettings, 'url' | 'endpoints'>): boolean {
  return url !== null || endpoints.length > 0;
}

/** The only allowed destinations. */
export function endpointsOf({
  url,
  events,
  endpoints,
}: WebhookSettings): readonly Endpoint[] {
  const all = url === null ? endpoints : [{ url, events }, ...endpoints];
  return all.map(({ url, events }) => {
    const { href, host } = new URL(url);
    const subscribed = new Set<string>(events);
    return {
      id: shortDigest(href),
      url: href,
      host,
      wants: (type) => subscribed.size === 0 || subscribed.has(type),
    };
  });
}
