import { _, type ErrorObject, type KeywordCxt } from 'ajv';
import { constant } from './keywords.ts';

/** A copy is its own, because a remembered error may be one of the whole value elsewhere. */
const copies = new WeakMap<ErrorObject, ErrorObject>();

/** Whether a value may match another schema instead. */
export const isOfAlternative = (error: ErrorObject): boolean =>
  copies.get(error) === error;

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
  };

/** The last error is the one of the keyword itself. */
function markedFrom(
  errors: readonly ErrorObject[] | null,
  before: number,
): readonly ErrorObject[] | null {
  if (errors === null || errors.length <= before + 1) return errors;
  return errors.map((error, i) =>
    i < before || i === errors.length - 1 ? error : marked(error),
  );
}

function marked(error: ErrorObject): ErrorObject {
  const copy = copies.get(error) ?? { ...error };
  copies.set(error, copy).set(copy, copy);
  return copy;
}
