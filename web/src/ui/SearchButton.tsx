import { useContext } from "react";
import { OpenSearch } from "../base/openSearch";
import { catalogue } from "../base/words/catalogue";
import { Button } from "./Button";

const words = catalogue("shell.searchButton", { search: "Search" });

/** SearchButton opens the search, where there is one. */
export function SearchButton() {
	const open = useContext(OpenSearch);
	return open && <Button onClick={open}>{words.search}</Button>;
}
