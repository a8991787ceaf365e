import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MIMEType } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { Confirmation } from './reasons.ts';

/** A mistake that the document has, by our reading. */
export interface Claim {
  readonly file: string;
  readonly pointer: string;
  readonly message: string;
}

interface Finding {
  readonly rule: string;
  readonly file: string;
  readonly pointer: string;
}

interface Redocly {
  createConfig(config: object): Promise<unknown>;
  lint(options: { ref: string; config: unknown }): Promise<
    readonly {
      ruleId: string;
      location: readonly { pointer?: string; source: { absoluteRef: string } }[];
    }[]
  >;
}

interface SchemaValidator {
  validate(file: string): Promise<{ valid: boolean; errors?: unknown }>;
}

interface PathTemplates {
  test(path: string): boolean;
}

const RULES = [
  'struct',
  'no-unresolved-refs',
  'no-identical-paths',
  'path-parameters-defined',
  'operation-operationId-unique',
  'security-defined',
];

/** Validators that are not ours, installed into the folder `tools`. */
export class SecondOpinions {
  readonly #redocly: Redocly;
  readonly #config: unknown;
  readonly #schemas: new () => SchemaValidator;
  readonly #paths: PathTemplates;

  private constructor(
    redocly: Redocly,
    config: unknown,
    schemas: new () => SchemaValidator,
    paths: PathTemplates,
  ) {
    this.#redocly = redocly;
    this.#config = config;
    this.#schemas = schemas;
    this.#paths = paths;
  }

  static async start(tools: string): Promise<SecondOpinions> {
    const { resolve } = createRequire(join(tools, 'package.json'));
    const load = (name: string) => import(pathToFileURL(resolve(name)).href);
    const redocly = (await load('@redocly/openapi-core')) as Redocly;
    const { Validator } = await load('@seriousme/openapi-schema-validator');
    const paths = (await load('openapi-path-templating')) as PathTemplates;
    const rules = Object.fromEntries(RULES.map((rule) => [rule, 'error']));
    return new SecondOpinions(redocly, await redocly.createConfig({ rules }), Validator, paths);
  }

  /** Returns whether a claim about the document is confirmed. */
  async of(file: string): Promise<(claim: Claim, by: Confirmation) => boolean> {
    const linted = await this.#lint(file);
    const findings = [...linted, ...(await this.#validate(file))];
    return (claim, by) => {
      if (by === 'path template') return !this.#paths.test(lastOf(claim.pointer));
      if (by === 'media type') return !isMediaType(lastOf(claim.pointer));
      if (by === 'pattern') return !isPattern(valueAt(claim));
      if (by === '$id') return isLost(claim);
      const rule = by.replace('redocly ', '');
      return findings.some((finding) => finding.rule === rule && isAtPlace(finding, claim));
    };
  }

  async #lint(file: string): Promise<Finding[]> {
    const problems = await this.#redocly.lint({ ref: resolve(file), config: this.#config });
    return problems.flatMap(({ ruleId, location }) =>
      location.map(({ pointer = '', source }) => ({
        rule: ruleId,
        file: source.absoluteRef,
        pointer: pointer.replace(/^#/, ''),
      })),
    );
  }

  /** It reads one file only, so it knows nothing about a document of several. */
  async #validate(file: string): Promise<Finding[]> {
    const { errors = [] } = await new this.#schemas().validate(file);
    const all = Array.isArray(errors) ? errors : [];
    return all.flatMap((error: { instancePath?: string }) =>
      error.instancePath === undefined
        ? []
        : [{ rule: 'schema', file: resolve(file), pointer: error.instancePath }],
    );
  }
}

/** One validator reports a member, another the object that has it, or another of its members. */
function isAtPlace(finding: Finding, claim: Claim): boolean {
  if (resolve(claim.file) !== finding.file || finding.pointer === '') return false;
  const [inner, outer] = [`${claim.pointer}/`, `${finding.pointer}/`];
  return (
    inner.startsWith(outer) ||
    outer.startsWith(inner) ||
    parentOf(claim.pointer) === parentOf(finding.pointer)
  );
}

const parentOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf('/'));

const tokensOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

const lastOf = (pointer: string): string => tokensOf(pointer).at(-1) ?? '';

function valuesAlong({ file, pointer }: Claim): unknown[] {
  const text = readFileSync(file, 'utf8');
  let value: unknown = file.endsWith('.json') ? JSON.parse(text) : parse(text);
  const values = [value];
  for (const token of tokensOf(pointer)) {
    value = (Object(value) as Record<string, unknown>)[token];
    values.push(value);
  }
  return values;
}

const valueAt = (claim: Claim): unknown => valuesAlong(claim).at(-1);

function isMediaType(text: string): boolean {
  try {
    new MIMEType(text);
    return true;
  } catch {
    return false;
  }
}

function isPattern(pattern: unknown): boolean {
  try {
    new Ajv2020().compile({ type: 'string', pattern });
    return true;
  } catch {
    return false;
  }
}

/** Whether ajv cannot resolve the reference from the schema with the `$id`. */
function isLost(claim: Claim): boolean {
  const values = valuesAlong(claim);
  const resource = values.findLast((value) => hasId(value)) as { readonly $id: string };
  const $ref = resource.$id + String(values.at(-1));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  try {
    ajv.addSchema(withoutReferences(resource)).compile({ $ref });
    return false;
  } catch (error) {
    return String(error).includes(`can't resolve reference ${$ref}`);
  }
}

/** Ajv reports the first reference only. */
const withoutReferences = (schema: object): object =>
  JSON.parse(JSON.stringify(schema, (name, value) => (name === '$ref' ? undefined : value)));

const hasId = (value: unknown): boolean =>
  typeof (Object(value) as { $id?: unknown }).$id === 'string';
