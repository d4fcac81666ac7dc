import { catalogue } from "../../../../web/src/base/words/catalogue";

const words = catalogue("home.example", { names: { a: "A" } });

export const names = Object.entries(words.names);
