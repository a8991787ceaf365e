import { resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { gatewayFile, type LoadOptions } from './load.ts';
import { settingSchema } from './settings.ts';
import { readTextFile, UnreadableFile } from './yaml/text-file.ts';

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
  const written = parseDocument(DATA.exec(text)?.[0] ?? text).get('data');
  return typeof written === 'string' ? written : null;
}
