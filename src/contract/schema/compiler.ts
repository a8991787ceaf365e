import { _, Ajv, type CodeKeywordDefinition, Name, str, type ValidateFunction } from 'ajv';
import { STRING_FORMATS } from '../formats.ts';
import { constant, KEYWORDS } from './keywords.ts';
import type { Translated } from './translate.ts';

/** A schema that others refer to by name; it has `validate` once it is compiled. */
interface Definition {
  validate?: ValidateFunction;
}

/**
 * Compiles translated schemas. It compiles definitions one by one and looks them up at run time, because ajv would
 * compile everything reachable inside each other, which overflows the stack for large documents.
 */
export class Compiler {
  readonly #definitions = new Map<string, Definition>();
  readonly #ajv: Ajv;

  /** With `thorough`, checks find all faults, not only the first. */
  constructor(thorough: boolean) {
    this.#ajv = new Ajv({
      allErrors: thorough,
      formats: { ...STRING_FORMATS },
      strictSchema: true,
      strictTypes: false,
      strictTuples: false,
      ownProperties: true,
      messages: false,
      validateSchema: false,
      meta: false,
      addUsedSchema: false,
      logger: false,
      code: { optimize: true },
    });
    for (const keyword of KEYWORDS) this.#ajv.addKeyword(keyword);
    this.#ajv.addKeyword(refers((name) => this.#definition(name)));
  }

  /** @throws Error if ajv cannot compile the schema. */
  compile(schema: Translated): ValidateFunction {
    const { refers, ...rest } = schema;
    const known = Object.keys(rest).length === 0 ? this.#definition(refers as string).validate : undefined;
    return known ?? this.#ajv.compile(schema);
  }

  /** Compiles the definition that `refers` finds under this name. @throws Error if ajv cannot. */
  define(name: string, schema: Translated): void {
    this.#definition(name).validate = this.compile(schema);
  }

  #definition(name: string): Definition {
    const definition = this.#definitions.get(name) ?? {};
    this.#definitions.set(name, definition);
    return definition;
  }
}

const instancePath = new Name('instancePath');

/** `refers: name` applies a definition to the value. */
function refers(find: (name: string) => Definition): CodeKeywordDefinition {
  return {
    keyword: 'refers',
    code(cxt) {
      const { data, gen, it } = cxt;
      const validate = _`${constant(cxt, find(cxt.schema as string))}.validate`;
      const path = str`${instancePath}${it.errorPath}`;
      const place = _`{instancePath: ${path}, parentData: ${it.parentData}, parentDataProperty: ${it.parentDataProperty}}`;
      cxt.result(_`${validate}(${data}, ${place})`, undefined, () => {
        gen.code(_`vErrors = vErrors === null ? ${validate}.errors : vErrors.concat(${validate}.errors)`);
        gen.code(_`errors = vErrors.length`);
      });
    },
  };
}
