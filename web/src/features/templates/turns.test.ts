import { equals, type Tests } from "../../base/testing";
import { turns } from "./turns";

const tests: Tests = {
	"tasks run in their order, so many at a time, also after one that fails or is not wanted": async () => {
		const inTurn = turns(2);
		const begun: string[] = [];
		const ends: { [name: string]: () => void } = {};
		const task = (name: string, failure?: Error) => () =>
			new Promise<string>((resolve, reject) => {
				begun.push(name);
				ends[name] = () => (failure ? reject(failure) : resolve(name));
			});
		const settle = async () => {
			for (let i = 0; i < 20; i++) await Promise.resolve();
		};
		const unwanted = {
			throwIfAborted() {
				throw new Error("aborted");
			},
		};
		const all = [
			inTurn(task("a")),
			inTurn(task("b", new Error("b"))),
			inTurn(task("c"), unwanted),
			inTurn(task("d")),
			inTurn(task("e")),
		].map((end) => end.catch(() => "failed"));
		await settle();
		equals(begun, ["a", "b"]);
		ends.b?.();
		await settle();
		equals(begun, ["a", "b", "d"]);
		ends.a?.();
		await settle();
		ends.d?.();
		ends.e?.();
		equals(await Promise.all(all), ["a", "failed", "failed", "d", "e"]);
	},
};

export default tests;
