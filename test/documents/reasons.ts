/** `mistake`: a second validator must report it at the same place; `unsupported`: a decision. */
export type ReasonKind = 'mistake' | 'unsupported' | 'version';

/** What confirms a mistake: a rule of Redocly's, or another validator. */
export type Confirmation =
  | `redocly ${string}`
  | 'schema'
  | 'path template'
  | 'pattern'
  | 'media type'
  | '$id';

export interface Reason {
  readonly kind: ReasonKind;
  /** Of the message of `check`. */
  readonly says: RegExp;
  /** One is enough. */
  readonly confirmedBy?: readonly Confirmation[];
}

const mistake = (says: RegExp, ...confirmedBy: readonly Confirmation[]): Reason => ({
  kind: 'mistake',
  says,
  confirmedBy,
});

const unsupported = (says: RegExp): Reason => ({ kind: 'unsupported', says });

const STRUCTURE = ['redocly struct', 'schema'] as const;

/** Why documents of the list are refused. */
export const REASONS = {
  'swagger-2': { kind: 'version', says: /not Swagger 2\.0/ },

  structure: mistake(/^must be (?:an? |array, )|^must have at least one/, ...STRUCTURE),
  'path-fragment': mistake(/must have no query and no fragment/, 'path template'),
  'template-twice': mistake(/^the path \S+ has \{[^}]+\} twice/, 'path template'),
  'same-path': mistake(/^cannot be distinguished from/, 'redocly no-identical-paths'),
  'path-parameter': mistake(
    /^the path parameter \{[^}]+\} is not described|^the path has no \{/,
    'redocly path-parameters-defined',
  ),
  'operation-id': mistake(/is the operationId of .* too$/, 'redocly operation-operationId-unique'),
  'missing-target': mistake(
    /does not exist$|cannot be read \(ENOENT\)/,
    'redocly no-unresolved-refs',
  ),
  'below-$id': mistake(/does not exist in the schema with the \$id/, '$id'),
  'two-kinds': mistake(/at once$/, ...STRUCTURE),
  'security-scheme': mistake(
    /is not defined in components\/securitySchemes$/,
    'redocly security-defined',
  ),
  pattern: mistake(/^the pattern is not valid with the u flag/, 'pattern'),
  'media-type': mistake(/is not a media type$/, 'media type'),

  'unchecked-body': unsupported(/cannot be checked: /),
  'no-operations': unsupported(/there is nothing to serve$/),
  'json-schema-draft': unsupported(/^the language of schemas/),
  'matrix-style': unsupported(/^matrix cannot be used|has a semicolon/),
  'adjacent-templates': unsupported(/has two templates with nothing between them$/),
  'empty-name': unsupported(/^a parameter needs a name$/),
  'back-reference': unsupported(/needs a back-reference/),
  'large-pattern': unsupported(/is too large: each character/),
} as const satisfies Readonly<Record<string, Reason>>;

export type ReasonName = keyof typeof REASONS;

export function reasonOf(message: string): ReasonName | null {
  const found = Object.entries(REASONS).find(([, { says }]) => says.test(message));
  return (found?.[0] as ReasonName | undefined) ?? null;
}

export const isReason = (name: string): name is ReasonName => Object.hasOwn(REASONS, name);
