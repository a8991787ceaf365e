import { send } from '../support/client.ts';
import { until } from '../support/until.ts';

/** Series name -> label -> values. */
export type Exposition = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/;

export function expositionOf(texts: readonly string[]): Exposition {
  const all = new Map<string, Map<string, Set<string>>>();
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name, labels = ''] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`not a sample: ${line}`);
    const existing = all.get(name) ?? new Map<string, Set<string>>();
    all.set(name, existing);
    for (const [, label, value] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      existing.set(label!, (existing.get(label!) ?? new Set()).add(value!));
    }
  }
  return all;
}

/**
 * Scrapes until each of `parts` appears: a request counts after its response, garbage after its
 * collection.
 */
export async function scraped(
  adminUrl: string,
  parts: readonly string[],
  meanwhile = async () => {},
): Promise<string> {
  let text = '';
  await until(`the metrics have ${parts.join(' and ')}`, async () => {
    await meanwhile();
    ({ text } = await send(`${adminUrl}/metrics`));
    return parts.every((part) => text.includes(part));
  });
  return text;
}
