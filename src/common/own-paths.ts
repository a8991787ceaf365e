/** The contract that clients read, as JSON and as YAML. */
export const CONTRACT_JSON_PATH = '/openapi.json';
export const CONTRACT_YAML_PATH = '/openapi.yaml';

/** The API reference. The page is at the path with a slash behind it, and its assets are below. */
export const REFERENCE_PATH = '/docs';

/** Paths of pages that need no key; a path that ends in `/` is a prefix. */
export const PAGE_PATHS = [CONTRACT_JSON_PATH, CONTRACT_YAML_PATH, REFERENCE_PATH, `${REFERENCE_PATH}/`] as const;

/** Where a client asks for its own usage, whatever the contract says. */
export const USAGE_PATH = '/usage';

/** Every path of the public listener that the gateway answers itself, with everything below it. */
export const OWN_PATHS = [CONTRACT_JSON_PATH, CONTRACT_YAML_PATH, REFERENCE_PATH, USAGE_PATH] as const;
