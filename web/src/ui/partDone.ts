import { createContext } from "react";

/**
 * PartDone is around the fields in a panel that edits one part of something: they close the panel when what they ask for is
 * chosen or given up.
 */
export const PartDone = createContext<{ done: () => void; close: () => void } | null>(null);
