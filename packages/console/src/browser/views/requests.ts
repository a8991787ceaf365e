import { h } from 'preact';
import type { Place } from '../routing.ts';
import { ExplainedRequest } from './requests/explanation.ts';
import { Refusals } from './requests/refusals.ts';

/** What was refused, as it is refused; or all that is known of one request, where its id is in the address. */
export function Requests({ place }: { place: Place }) {
  return place.rest === '' ? h(Refusals, { place }) : h(ExplainedRequest, { id: place.rest });
}
