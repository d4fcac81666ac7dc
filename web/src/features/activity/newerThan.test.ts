import { equals, type Tests } from "../../base/testing";
import { newerThan } from "./newerThan";
import { kinds, typesOf } from "./kinds";

const rows = (ids: string) => [...ids].map((id) => ({ id }));

const tests: Tests = {
	"rows are newer that stand before those that are shown"() {
		const pages: [shown: string, fresh: string, want: [count: number, more: boolean]][] = [
			["cba", "cba", [0, false]],
			["cba", "edc", [2, false]],
			["cba", "fed", [3, true]],
			["cba", "fe", [2, false]],
			["", "ba", [2, false]],
			["", "cba", [3, true]],
			["cba", "", [0, false]],
			["cba", "dba", [1, false]],
		];
		for (const [shown, newest, [count, more]] of pages)
			equals(newerThan(rows(shown), rows(newest), 3), { count, more }, `${newest} after ${shown}`);
	},
	"each kind of activity stands for types, and no type for two kinds"() {
		const all = kinds().flatMap((kind) => typesOf(kind.value)?.split(",") ?? []);
		equals(all.length >= kinds().length, true);
		equals(new Set(all).size, all.length, "the number of different types");
		equals(typesOf("opens"), "email_opened");
		for (const kind of ["", "unheard_of", "constructor"]) equals(typesOf(kind), undefined, kind);
	},
};

export default tests;
