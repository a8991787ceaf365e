/** Whose requests are taken, by address: of nobody in `deny`, and where `allow` has a list, only of those in one of them. */
export interface AddressLists {
  readonly allow: readonly AddressList[];
  readonly deny: readonly AddressList[];
}

/** Addresses and blocks, each checked. */
export interface AddressList {
  /** The name of the file that they are from; `null`: of the settings. */
  readonly file: string | null;
  readonly entries: readonly string[];
}

export const hasLists = ({ allow, deny }: AddressLists): boolean => allow.length + deny.length > 0;

/** Lists of their entries alone. */
export function listsOf(allow: readonly string[], deny: readonly string[]): AddressLists {
  const own = (entries: readonly string[]) => (entries.length === 0 ? [] : [{ file: null, entries }]);
  return { allow: own(allow), deny: own(deny) };
}
