export const CONTRACT_JSON_PATH = '/openapi.json';
export const CONTRACT_YAML_PATH = '/openapi.yaml';

/** The page has a trailing slash, its assets are below. */
export const REFERENCE_PATH = '/docs';

/** Paths that need no key; a path ending in `/` is a prefix. */
export const PAGE_PATHS = [
  CONTRACT_JSON_PATH,
  CONTRACT_YAML_PATH,
  REFERENCE_PATH,
  `${REFERENCE_PATH}/`,
] as const;

export const USAGE_PATH = '/usage';
