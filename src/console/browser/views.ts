import type { ComponentType } from 'preact';
import type { Place } from './routing.ts';
import { Bans } from './views/bans.ts';
import { Gateways } from './views/gateways.ts';
import { Keys } from './views/keys.ts';
import { Now } from './views/now.ts';
import { Requests } from './views/requests.ts';
import { Who } from './views/who.ts';

export interface ViewOf {
  /** The first part of its address. */
  readonly name: string;
  readonly title: string;
  readonly view: ComponentType<{ place: Place }>;
}

/** All views in the order of the navigation; the first opens the console. */
export const VIEWS: readonly ViewOf[] = [
  { name: 'now', title: 'Now', view: Now },
  { name: 'who', title: 'Who', view: Who },
  { name: 'requests', title: 'Requests', view: Requests },
  { name: 'bans', title: 'Bans', view: Bans },
  { name: 'keys', title: 'Keys', view: Keys },
  { name: 'gateways', title: 'Gateways', view: Gateways },
];
