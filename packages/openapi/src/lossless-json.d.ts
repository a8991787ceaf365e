/** JSON source text access: Node.js has it, the shipped libraries do not declare it. */
interface JSON {
  rawJSON(text: string): { readonly rawJSON: string };
  parse(
    text: string,
    reviver: (
      this: unknown,
      key: string,
      value: unknown,
      context: { readonly source?: string },
    ) => unknown,
  ): unknown;
}
