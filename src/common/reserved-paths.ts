/** The published contract, as JSON and as YAML. */
export const CONTRACT_JSON_PATH = '/openapi.json';
export const CONTRACT_YAML_PATH = '/openapi.yaml';

/** The API reference: the page is at this path with a trailing slash, its assets below. */
export const REFERENCE_PATH = '/docs';

/** Paths that need no key; a path ending in `/` is a prefix. */
export const PAGE_PATHS = [CONTRACT_JSON_PATH, CONTRACT_YAML_PATH, REFERENCE_PATH, `${REFERENCE_PATH}/`] as const;

/** The client's own usage, whatever the contract defines. */
export const USAGE_PATH = '/usage';

/** Paths that the gateway serves itself, with everything below them. */
export const RESERVED_PATHS = [CONTRACT_JSON_PATH, CONTRACT_YAML_PATH, REFERENCE_PATH, USAGE_PATH] as const;
