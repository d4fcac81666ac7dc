import { createContext } from "react";

/** OpenSearch opens the search. It is null where there is none. */
export const OpenSearch = createContext<(() => void) | null>(null);
