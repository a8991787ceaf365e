import type { RequestEvent } from '../../src/observe/events.ts';
import type { RequestFilter } from '../../src/observe/peers/requests.ts';

export const ANY: RequestFilter = {
  key: null,
  account: null,
  api: null,
  code: null,
  since: null,
  before: null,
  limit: 1e9,
};

export function requestEvent(given: Partial<RequestEvent> = {}): RequestEvent {
  return {
    type: 'request',
    id: 'x',
    method: 'GET',
    api: null,
    operation: 'listPets',
    status: 200,
    complete: true,
    code: null,
    step: null,
    verdict: 'admitted',
    nearLimit: false,
    unheeding: false,
    deprecated: false,
    keyId: 'key_1',
    account: 'acme',
    plan: 'free',
    address: '198.51.100.1',
    duration: 3,
    upstream: 2,
    ...given,
  };
}
