import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

export const kubernetes = resolve(import.meta.dirname, '../../../deploy/kubernetes');
export const EXAMPLE = 'overlays/example';
export const folders = ['base', 'monitoring', EXAMPLE];

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

export interface Kustomization {
  readonly kind: string;
  readonly resources: readonly string[];
  readonly components?: readonly string[];
  readonly images?: readonly { readonly name: string }[];
  readonly patches?: readonly {
    readonly target: { readonly kind: string };
    readonly patch: string;
  }[];
  readonly configMapGenerator?: readonly {
    readonly name: string;
    readonly files: readonly string[];
    readonly options?: { readonly disableNameSuffixHash?: boolean };
  }[];
}

const read = (...path: string[]) =>
  parse(readFileSync(join(kubernetes, ...path), 'utf8')) as unknown;

export const filesIn = (folder: string): string[] =>
  readdirSync(join(kubernetes, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? entry.name : [],
  );

export const kustomizationOf = (folder: string) =>
  read(folder, 'kustomization.yaml') as Kustomization;

/** The files that a folder lists itself, also in comments: a user chooses one of these. */
export function listedIn(folder: string): string[] {
  const text = readFileSync(join(kubernetes, folder, 'kustomization.yaml'), 'utf8');
  const choices = [...text.matchAll(/^ {2}# - (\S+\.yaml)$/gm)].map(([, file]) => file!);
  const { resources } = kustomizationOf(folder);
  return [...resources.filter((name) => name.endsWith('.yaml')), ...choices];
}

/** The objects of these files, by file. */
export function manifestsOf(folder: string): Map<string, Manifest> {
  return new Map(listedIn(folder).map((file) => [file, read(folder, file) as Manifest]));
}

export const manifests = (): Manifest[] =>
  folders.flatMap((folder) => [...manifestsOf(folder).values()]);

/**
 * Throws if there is not exactly one. The type is that of the caller: another test checks each
 * object against the API.
 */
export function specOf<Spec>(kind: string, name = 'storegate'): Spec {
  const [found, ...others] = manifests().filter(
    (one) => one.kind === kind && one.metadata.name === name,
  );
  if (!found || others.length > 0) throw new Error(`there is not exactly one ${kind} ${name}`);
  return found.spec as Spec;
}

export interface Labelled {
  readonly matchLabels: Readonly<Record<string, string>>;
}
export interface Deployment {
  readonly selector: Labelled;
  readonly template: { readonly metadata: Manifest['metadata']; readonly spec: Pod };
}
export interface Container {
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: unknown;
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}
export interface Probe {
  readonly httpGet: { readonly path: string };
}
export interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly enableServiceLinks: boolean;
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number };
  readonly topologySpreadConstraints: readonly { readonly labelSelector: Labelled }[];
  readonly containers: readonly [Container];
  readonly volumes: readonly {
    readonly name: string;
    readonly emptyDir?: object;
    readonly configMap?: { readonly name: string };
    readonly secret?: { readonly secretName: string };
  }[];
}
interface BackendRef {
  readonly name: string;
  readonly port: number | { readonly name: string };
}
export interface Ingress {
  readonly rules: readonly {
    readonly host: string;
    readonly http: {
      readonly paths: readonly { readonly backend: { readonly service: BackendRef } }[];
    };
  }[];
}
export interface HttpRoute {
  readonly hostnames: readonly string[];
  readonly rules: readonly { readonly backendRefs: readonly BackendRef[] }[];
}
export interface Port {
  readonly name?: string;
  readonly port: number | string;
  readonly targetPort: string;
}
export interface Service {
  readonly clusterIP?: string;
  readonly selector: Labelled['matchLabels'];
  readonly ports: readonly Port[];
}
export interface Policy {
  readonly podSelector: Labelled;
  readonly ingress: readonly { readonly ports: readonly Port[]; readonly from?: unknown }[];
  readonly egress: readonly { readonly ports: readonly Port[] }[];
}
export interface Monitor {
  readonly jobLabel: string;
  readonly selector: Labelled;
  readonly endpoints: readonly [{ readonly port: string; readonly path: string }];
}
