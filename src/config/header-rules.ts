import { resolve } from 'node:path';
import { foldedName } from '../common/field-list.ts';
import { DEFAULT_KEY_HEADERS, keyHeaders } from '../common/key-headers.ts';
import { NOT_FORWARDED } from '../common/reserved-fields.ts';
import { pointerTo, step } from './problems/pointers.ts';
import { type SchemaError, valueError } from './schema/errors.ts';
import { isFieldValue } from './schema/formats.ts';
import { entryOf, type Settings, settingValue } from './settings.ts';
import { readTextFile, UnreadableFile } from './yaml/text-file.ts';

/** As written. */
export type FieldValue = string | { readonly file: string };

/** In bytes; the line end of its file is not part of a value. */
const MAX_FILE_SIZE = 8 * 1024;

const SIDES = ['headers.request', 'headers.response'] as const;

type Values = Readonly<Record<string, FieldValue>>;

/** Invalid settings name no files. The returned paths are absolute. */
export function readValueFiles(written: Settings, cwd: string) {
  const settings = new Map(written);
  const texts = new Map<string, string>();
  const flaws: SchemaError[] = [];

  function read(path: string, pointer: string): string {
    try {
      const text = readTextFile(path, MAX_FILE_SIZE).replace(/\r?\n$/, '');
      if (isFieldValue(text)) return text;
      throw new UnreadableFile(
        'does not have 1 to 4096 visible ASCII characters in one line',
      );
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error;
      // The path may be a misplaced secret.
      const message = `the file that it names ${error.message} (neither path nor value is shown)`;
      flaws.push(valueError(pointer, message));
      return '';
    }
  }

  for (const name of SIDES.map((side) => `${side}.set`)) {
    const setting = entryOf(written, name);
    const contents = Object.entries(setting.value as Values).map(
      ([field, value]) => {
        if (typeof value === 'string') return null;
        const path = resolve(cwd, value.file);
        const text =
          texts.get(path) ?? read(path, step(pointerTo(name), field));
        texts.set(path, text);
        return text;
      },
    );
    settings.set(name, { ...setting, contents });
  }
  return {
    settings: settings as Settings,
    paths: [...texts.keys()],
    flaws,
    textOf: (file: string) => texts.get(resolve(cwd, file))!,
  };
}

/** Folded names that no rule may change, and why. */
const PROTECTED: readonly (readonly [names: RegExp, reason: string])[] = [
  [
    /^(?:connection|content-length|expect|http2-settings|keep-alive|proxy-.*|sec-websocket-.*|te|trailer|transfer-encoding|upgrade)$/,
    'belongs to the connection and its framing',
  ],
  [/^host$/, 'names the backend'],
  [
    /^content-(?:encoding|range|type)$/,
    'describes a body, which stays unchanged',
  ],
  [
    /^(?:forwarded|via|x-forwarded-.*|x-real-ip)$/,
    'states where a request comes from',
  ],
  [/^(?:date|traceparent|tracestate|x-request-id)$/, 'identifies a message'],
  [/^(?:retry-after|(?:x-)?ratelimit.*)$/, 'states limits'],
  [/^access-control-/, 'belongs to cors'],
  [
    /^(?:deprecation|sunset|x-(?:ban-warning|key-retires|stability-level|storegate-.*))$/,
    'is written by the gateway itself',
  ],
];

const IDENTITY = ['keyId', 'account', 'plan', 'scopes'].map(
  (member) => `keys.identity.${member}`,
);

export const READ_BY_HEADER_RULES: readonly string[] = [
  ...SIDES.flatMap((side) => [`${side}.set`, `${side}.remove`]),
  ...IDENTITY,
  'keys.headers',
  'cost.header',
];

export function headerRuleErrors(settings: Settings): SchemaError[] {
  const own = ownFields(settings);

  function reasonAgainst(name: string, side: string): string | null {
    const meant = foldedName(name);
    const [, reason] = PROTECTED.find(([names]) => names.test(meant)) ?? [];
    if (reason !== undefined) return reason;
    return side === 'headers.request' && NOT_FORWARDED.has(meant)
      ? 'could name another client, method or target'
      : (own.get(meant) ?? null);
  }

  return SIDES.flatMap((side) => {
    const seen = new Map<string, string>();
    return namesIn(settings, side).flatMap(({ name, ...place }) => {
      const lowerCase = name.toLowerCase();
      const other = seen.get(lowerCase);
      seen.set(lowerCase, name);
      const reason = reasonAgainst(name, side);
      if (reason !== null)
        return [
          { ...place, message: `${name} cannot have a rule: it ${reason}` },
        ];
      return other === undefined
        ? []
        : [
            {
              ...place,
              message: `${name} has a rule already, as ${other}: set or remove it once`,
            },
          ];
    });
  });
}

/** By folded name, with the reason. */
function ownFields(settings: Settings): ReadonlyMap<string, string> {
  const usual = keyHeaders(DEFAULT_KEY_HEADERS);
  const keys =
    settingValue<readonly string[] | null>(settings, 'keys.headers') ?? usual;
  const named = [...IDENTITY, 'cost.header'].map(
    (name) =>
      [settingValue<string | null>(settings, name), `is ${name}`] as const,
  );
  return new Map(
    [
      ...named,
      ...keys.map(
        (name) =>
          [name, 'may carry the key of a client (keys.headers)'] as const,
      ),
    ].flatMap(([name, reason]) =>
      name === null ? [] : [[foldedName(name), reason]],
    ),
  );
}

function namesIn(settings: Settings, side: string) {
  const [set, remove] = [`${side}.set`, `${side}.remove`] as const;
  const inSet = Object.keys(settingValue<Values>(settings, set));
  const inRemove = settingValue<readonly string[]>(settings, remove);
  return [
    ...inSet.map((name) => ({
      name,
      pointer: step(pointerTo(set), name),
      at: 'key' as const,
    })),
    ...inRemove.map((name, i) => ({
      name,
      pointer: step(pointerTo(remove), i),
      at: 'value' as const,
    })),
  ];
}
