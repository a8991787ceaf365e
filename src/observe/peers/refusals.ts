import { peerQuery } from './query.ts';
import { isFilterWords, isListed, type ListedRequest, MOST_LISTED, newestOf, type RequestFilter } from './requests.ts';
import { listOf } from './shapes.ts';

interface Sources {
  readonly recent: { refusals(filter: RequestFilter): readonly ListedRequest[] };
}

export const refusals = peerQuery({
  name: 'refusals',
  isArgument: isFilter,
  otherwise: [],
  part: ({ recent }: Sources, filter) => recent.refusals(filter),
  answer: ({ parts }, { limit }) => newestOf(parts, limit),
  isAnswer: listOf(isListed),
});

function isFilter(value: unknown): value is RequestFilter {
  if (!isFilterWords(value)) return false;
  const { limit } = value as RequestFilter;
  return Number.isInteger(limit) && limit >= 1 && limit <= MOST_LISTED;
}
