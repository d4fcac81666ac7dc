import { createContext } from "react";

/**
 * CurrentRow is, for the content of a row of a table, whether the row is the one that Tab reaches; null outside tables.
 * A table has one row in the order of Tab, so what is in the others is not.
 */
export const CurrentRow = createContext<boolean | null>(null);
