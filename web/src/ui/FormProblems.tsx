import { useEffect, useRef } from "react";
import { catalogue } from "../base/words/catalogue";
import css from "./Field.module.css";
import type { Problems } from "./problems";

const words = catalogue("shell.formProblems", { title: "Your changes were not saved" });

/** FormProblems lists the problems of a form that belong to none of its fields. It takes the focus. */
export function FormProblems({ problems }: { problems: Problems }) {
	const box = useRef<HTMLDivElement>(null);
	const { general } = problems;
	useEffect(() => {
		if (general.length > 0) box.current?.focus();
	}, [general]);
	if (general.length === 0) return null;
	return (
		<div ref={box} tabIndex={-1} role="alert" className={css.problems}>
			<p>{words.title}</p>
			<ul>
				{general.map((group) => (
					<li key={group}>{group}</li>
				))}
			</ul>
		</div>
	);
}
