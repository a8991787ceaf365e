/** The caller closed its connection before its answer was through: nobody is left to answer, and nobody did wrong. */
export class CallerLeft extends Error {
  override name = 'CallerLeft';
}
