import { toJson } from '@storegate/openapi';
import { createApi } from '../../packages/reference/src/browser/model/api.ts';
import type { ApiDocument, Media } from '../../packages/reference/src/browser/model/document.ts';
import { mediaText } from '../../packages/reference/src/browser/model/example.ts';
import { faultsIn } from '../../packages/reference/src/browser/model/faults.ts';
import type { ReadContract } from '../../src/config/contract/contract.ts';

export interface Examples {
  /** JSON bodies for which the reference makes an example, because the author wrote none. */
  readonly made: number;
  /** Those that the contract accepts. */
  readonly valid: number;
  /** One line each: the reference says nothing about a refused example, or something about a valid one. */
  readonly differences: readonly string[];
}

const isWritten = ({ example, examples }: Media) => example !== undefined || examples !== undefined;

/** What a reader of the reference sends without a change. */
export function judgeExamples(contract: ReadContract): Examples {
  const api = createApi(JSON.parse(toJson(contract.document)) as ApiDocument);
  const operations = new Map(
    contract.operations.map((operation) => [`${operation.method} ${operation.path}`, operation]),
  );
  const differences: string[] = [];
  let made = 0;
  let valid = 0;
  for (const row of new Set([...api.rows.values()].flat())) {
    const operation = operations.get(`${row.method} ${row.path}`);
    const [[type = '', media] = []] = Object.entries(api.body(row)?.content ?? {});
    const rule = /json/i.test(type) ? operation?.body?.media(type) : null;
    if (!rule || media === undefined || isWritten(media)) continue;
    made++;
    const text = mediaText(api, media, type, 'request');
    const [refused] = rule.check(Buffer.from(text));
    const [missing] = faultsIn(api, media.schema, 'request', JSON.parse(text));
    if (refused === undefined) valid++;
    const place = `the example for ${row.method} ${row.path}`;
    if (refused && !missing)
      differences.push(
        `${place} is refused, and the page says nothing: ${refused.pointer} ${refused.message}`,
      );
    if (!refused && missing)
      differences.push(`${place} is valid, and the page says: ${missing.pointer} ${missing.need}`);
  }
  return { made, valid, differences };
}
