/** `5/minute,10/10s:sliding`, or a list. */
export type WindowNotation =
  | string
  | readonly { readonly limit: number; readonly per: string; readonly kind?: string }[];
