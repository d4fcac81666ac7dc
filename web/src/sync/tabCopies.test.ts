import { equals, Random, type Tests } from "../base/testing";
import { type Key, otherTabs, type Row, readable } from "./tabCopies";

/** Store is what all tabs of a browser share. */
class Store {
	private rows = new Map<string, Row & { text: string }>();
	private time = 0;
	put(key: Key, text: string) {
		this.rows.set(key.join(" "), { key, size: text.length, chunks: 1, at: ++this.time, text });
	}
	delete(key: Key) {
		this.rows.delete(key.join(" "));
	}
	all() {
		return [...this.rows.values()];
	}
}

const keyOf = (tab: string): Key => ["user", "acme", "broadcast", "1", tab];
const texts = (rows: Row[]) => rows.map((row) => (row as Row & { text: string }).text);

const tests: Tests = {
	"what one tab drops leaves the copy of another"() {
		const store = new Store();
		store.put(keyOf("a"), "words of a");
		store.put(keyOf("b"), "words of b");
		store.delete(keyOf("b")); // b has saved
		equals(texts(readable(store.all(), "a", new Set())), ["words of a"], "in a");
		equals(texts(readable(store.all(), "b", new Set())), [], "in b, while a is open");
		equals(otherTabs(store.all(), "b"), ["a"]);
		equals(texts(readable(store.all(), "b", new Set(["a"]))), ["words of a"], "in b, when a is gone");
	},
	"a tab takes its own copy and those that were left, the earliest first"() {
		const store = new Store();
		for (const tab of ["c", "a", "b", "d"]) store.put(keyOf(tab), tab);
		store.put(keyOf("c"), "c again");
		equals(texts(readable(store.all(), "a", new Set(["c", "d"]))), ["a", "d", "c again"]);
	},
	"whatever tabs do, the last words of an open tab are there until it drops them"() {
		const random = new Random(8);
		const store = new Store();
		const tabs = ["a", "b", "c"];
		const last = new Map<string, string>();
		for (let round = 0; round < 500; round++) {
			const tab = random.of(tabs);
			if (random.below(3) === 0) {
				store.delete(keyOf(tab));
				last.delete(tab);
			} else {
				store.put(keyOf(tab), `${tab}${round}`);
				last.set(tab, `${tab}${round}`);
			}
			for (const tab of tabs)
				equals(
					texts(readable(store.all(), tab, new Set())),
					last.has(tab) ? [last.get(tab)] : [],
					`${tab} after ${round}`,
				);
		}
	},
};

export default tests;
