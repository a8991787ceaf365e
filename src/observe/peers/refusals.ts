import { question } from './question.ts';
import {
  isFilterWords,
  type ListedRequest,
  MOST_LISTED,
  newestOf,
  type RequestFilter,
  type ToldRequest,
} from './requests.ts';
import { has, type Is, isCount, isFlag, isMoment, isText, listOf, oneOf, orNull } from './shapes.ts';

export const LISTED: { readonly [K in keyof ListedRequest]: Is } = {
  id: isText,
  worker: orNull(isCount),
  at: isMoment,
  method: isText,
  operation: isText,
  status: isCount,
  complete: isFlag,
  step: orNull(oneOf('door', 'pages', 'authenticate', 'usage', 'admit', 'contract', 'store')),
  code: orNull(isText),
  message: orNull(isText),
  key: orNull(
    has<NonNullable<ToldRequest['key']>>({ id: isText, account: isText, plan: isText, subject: orNull(isText) }),
  ),
  address: isText,
  more: isCount,
};

export const areListed = listOf(has<ListedRequest>(LISTED));

/** What of a process answers this. */
interface Sources {
  readonly recent: { refusals(filter: RequestFilter): readonly ListedRequest[] };
}

/** Refusals and failures, newest first. */
export const refusals = question({
  name: 'refusals',
  isArgument: isFilter,
  otherwise: [],
  part: ({ recent }: Sources, filter) => recent.refusals(filter),
  answer: ({ parts }, { limit }) => newestOf(parts, limit),
  isAnswer: (answer): answer is readonly ListedRequest[] => areListed(answer),
});

function isFilter(value: unknown): value is RequestFilter {
  if (!isFilterWords(value)) return false;
  const { limit } = value as RequestFilter;
  return Number.isInteger(limit) && limit >= 1 && limit <= MOST_LISTED;
}
