import { _, type ErrorObject, type KeywordCxt } from 'ajv';
import { constant } from './keywords.ts';

/**
 * A remembered error may be one of the whole value elsewhere, so it has a copy, which is its own
 * copy. In a WeakMap, the garbage collector would stop the process for 0.1 s for 100,000 errors.
 */
interface Markable extends ErrorObject {
  copy?: ErrorObject;
}

/** Whether a value may match another schema instead. */
export const isOfAlternative = (error: Markable): boolean =>
  error.copy === error;

/** Marks the errors of alternatives, of which a value needs one only. */
export const marking =
  (code: (cxt: KeywordCxt) => void) =>
  (cxt: KeywordCxt): void => {
    const { gen, it, schema } = cxt;
    if (it.allErrors !== true || (schema as unknown[]).length < 2) {
      code(cxt);
      return;
    }
    const before = gen.const('before', _`errors`);
    code(cxt);
    gen.code(_`vErrors = ${constant(cxt, markedFrom)}(vErrors, ${before})`);
    gen.code(_`errors = vErrors === null ? 0 : vErrors.length`);
  };

/**
 * The last error is the one of the keyword itself. If several alternatives match, the errors of the
 * others do not help.
 */
function markedFrom(
  errors: readonly ErrorObject[] | null,
  before: number,
): readonly ErrorObject[] | null {
  if (errors === null || errors.length <= before + 1) return errors;
  const own = errors.at(-1)!;
  if (own.params.passingSchemas) return [...errors.slice(0, before), own];
  return errors.map((error, i) =>
    i < before || i === errors.length - 1 ? error : marked(error),
  );
}

function marked(error: Markable): ErrorObject {
  if (error.copy !== undefined) return error.copy;
  const copy: Markable = { ...error };
  copy.copy = copy;
  error.copy = copy;
  return copy;
}
