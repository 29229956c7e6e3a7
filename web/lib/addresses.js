// Where Trommel is on the net: the one place that says it. It has no public address yet, so links lead to what lies beside
// the page, and editors elsewhere find no package, until PUBLIC is { source, npm, page } with the three addresses.
export const PUBLIC = null;

export const NAME = "trommel", VERSION = "0.1.0"; // as npm has them
export const SOURCE = PUBLIC?.source ?? "trommel/README.md";
export const PACKAGE = PUBLIC?.npm ?? "trommel/package.json";
export const LICENCE = "trommel/LICENSE";
