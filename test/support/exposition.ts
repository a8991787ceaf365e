import { expositionOf, TEXT } from '../../src/observe/exposition.ts';
import type { Metrics } from '../../src/observe/metrics.ts';

export async function textOf(metrics: Pick<Metrics, 'figures'>): Promise<string> {
  return expositionOf(await metrics.figures(), TEXT);
}
