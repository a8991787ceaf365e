import { REASON_HEADER } from '@storegate/admin-api';
import { holdsSecret } from '../common/secret-mask.ts';
import { holdsToken } from '../records/operators/tokens.ts';
import { AdminError } from './admin-error.ts';
import { unfitField } from './duration.ts';

/** Characters. */
const LONGEST = 500;

/** `null`: none was given. Throws AdminError for an invalid one. */
export function reasonIn(header: string | undefined): string | null {
  return header === undefined
    ? null
    : fitReason(decoded(header), REASON_HEADER, 'header');
}

/** `null`: blank. Throws AdminError for an invalid one. */
function fitReason(
  text: string,
  field: string,
  place: 'header' | 'body',
): string | null {
  const reason = text.trim();
  const refuse = (why: string) => unfitField(field, why, place);
  if ([...reason].length > LONGEST)
    throw refuse(`has more than ${LONGEST} characters`);
  if (/\p{Cc}/u.test(reason))
    throw refuse('has a control character, such as a line break');
  if (holdsSecret(reason))
    throw refuse(
      'has what looks like the secret of a key, and the audit log is read by many: give the id',
    );
  if (holdsToken(reason))
    throw refuse(
      "has what looks like an operator's token, and the audit log is read by many: give its name",
    );
  return reason === '' ? null : reason;
}

/** Throws AdminError if header and body differ. */
export function sameReason(ofHeader: string | null, ofBody: string): string {
  const reason = fitReason(ofBody, 'reason', 'body');
  if (reason === null) throw unfitField('reason', 'is blank');
  if (ofHeader === null || ofHeader === reason) return reason;
  throw new AdminError(
    'invalid_value',
    `${REASON_HEADER} and the body say different reasons: leave the header out.`,
  );
}

function decoded(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new AdminError(
      'invalid_value',
      `${REASON_HEADER} must be UTF-8, percent-encoded.`,
    );
  }
}
