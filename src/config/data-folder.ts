import { resolve } from 'node:path';
import { parseWithin } from '@storegate/openapi/limits';
import { gatewayFile, type LoadOptions } from './load.ts';
import { settingSchema } from './settings.ts';
import { readTextFile, UnreadableFile } from './yaml/text-file.ts';
import { mostTokens } from './yaml/tree.ts';

/** With its continuation lines, if any. */
const DATA = /^data:.*(?:\n[ \t].*)*/m;

/** Absolute, also if other settings are invalid; `null`: gateway.yaml cannot be read. */
export function findDataFolder(options: LoadOptions): string | null {
  try {
    const written =
      options.env.STOREGATE_DATA || dataIn(readTextFile(gatewayFile(options)));
    return resolve(
      options.cwd,
      written || String(settingSchema('data').default),
    );
  } catch (error) {
    if (error instanceof UnreadableFile) return null;
    throw error;
  }
}

/** The line of the setting is read alone, because a mistake may be in any other line. */
function dataIn(text: string): string | null {
  const document = parseWithin(DATA.exec(text)?.[0] ?? text, mostTokens, {});
  const written = typeof document === 'number' ? null : document.get('data');
  return typeof written === 'string' ? written : null;
}
