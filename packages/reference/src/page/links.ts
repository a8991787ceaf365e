export interface Link {
  readonly href: string;
  readonly text: string;
}
