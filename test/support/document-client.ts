// biome-ignore lint/suspicious/noExplicitAny: any OpenAPI document
type Json = any;

/** A value for each security scheme by its place: a header, or `bearer`. */
export type Credentials = Readonly<Record<string, string>>;

/**
 * Sends requests as a generated client does: with the first server and the first security
 * requirement.
 */
export class DocumentClient {
  readonly #url: string;
  readonly document: Json;
  readonly #credentials: Credentials;

  private constructor(url: string, document: Json, credentials: Credentials) {
    this.#url = url;
    this.document = document;
    this.#credentials = credentials;
  }

  static async from(url: string, credentials: Credentials): Promise<DocumentClient> {
    const response = await fetch(url);
    return new DocumentClient(url, await response.json(), credentials);
  }

  /** Without path parameters. */
  async call(operationId: string): Promise<Response> {
    const { path, method, item, operation } = this.#find(operationId);
    const [server] = operation.servers ?? item.servers ?? this.document.servers;
    const base = new URL(server.url, this.#url).href.replace(/\/$/, '');
    const [requirement = {}] = operation.security ?? this.document.security ?? [];
    const headers = Object.keys(requirement).map((name) => this.#header(name));
    return await fetch(base + path, { method, headers });
  }

  #find(operationId: string) {
    for (const [path, item] of Object.entries<Json>(this.document.paths)) {
      for (const [method, operation] of Object.entries<Json>(item)) {
        if (operation.operationId === operationId)
          return { path, method: method.toUpperCase(), item, operation };
      }
    }
    throw new Error(`the document has no operation ${operationId}`);
  }

  #header(scheme: string): [name: string, value: string] {
    const { type, name } = this.document.components.securitySchemes[scheme];
    return type === 'apiKey'
      ? [name, this.#credentials[name.toLowerCase()]!]
      : ['Authorization', `Bearer ${this.#credentials.bearer}`];
  }
}
