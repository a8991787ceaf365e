import type { Admission } from '../../limits/admission.ts';
import type { BanEscalation } from '../../limits/limits.ts';

/** What a refusal that may be a strike announces to its client. */
export interface BanWarning {
  /** The end of a sentence, without a stop; empty if the key is never banned. */
  readonly clause: string;
  readonly headers: readonly string[];
}

const NEVER: BanWarning = { clause: '', headers: [] };
const FREE: BanWarning = {
  clause: 'many requests sent earlier lead to a ban',
  headers: [],
};
const STRIKE: BanWarning = {
  clause: 'requests sent earlier count towards a ban',
  headers: [],
};
const LAST_STRIKE: BanWarning = {
  clause: 'the next request sent earlier bans this key',
  headers: ['X-Ban-Warning', 'strikes-left=1'],
};

/** One of four objects. */
export function banWarning(
  escalation: BanEscalation | null,
  { strikes, freeRefusals }: Pick<Admission, 'strikes' | 'freeRefusals'>,
): BanWarning {
  if (escalation === null) return NEVER;
  if (freeRefusals > 0) return FREE;
  return strikes >= escalation.strikes - 1 ? LAST_STRIKE : STRIKE;
}
