import type { ComponentType } from 'preact';
import type { Place } from './routing.ts';
import { Audit } from './views/audit.ts';
import { Bans } from './views/bans.ts';
import { Clients } from './views/clients.ts';
import { Configuration } from './views/configuration.ts';
import { Gateways } from './views/gateways.ts';
import { Keys } from './views/keys.ts';
import { Overview } from './views/overview.ts';
import { Plans } from './views/plans.ts';
import { Requests } from './views/requests.ts';
import { Top } from './views/top.ts';

export interface ViewOf {
  /** The first part of its address. */
  readonly name: string;
  readonly title: string;
  readonly view: ComponentType<{ place: Place }>;
}

/** All views in the order of the navigation; the first opens the console. */
export const VIEWS: readonly ViewOf[] = [
  { name: 'overview', title: 'Overview', view: Overview },
  { name: 'keys-and-accounts', title: 'Keys and accounts', view: Clients },
  { name: 'requests', title: 'Requests', view: Requests },
  { name: 'top-clients', title: 'Top clients', view: Top },
  { name: 'bans', title: 'Bans', view: Bans },
  { name: 'keys', title: 'Keys', view: Keys },
  { name: 'plans', title: 'Plans', view: Plans },
  { name: 'audit', title: 'Audit', view: Audit },
  { name: 'configuration', title: 'Configuration', view: Configuration },
  { name: 'gateways', title: 'Gateways', view: Gateways },
];
