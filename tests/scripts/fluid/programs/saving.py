"""All ways of fluid.io and 1.6's fluid.save to keep a Program's values, and to bring them back."""

import os

import numpy as np
import paddle.fluid as fluid


def net():
    x = fluid.data(name="x", shape=[None, 4], dtype="float32")
    hidden = fluid.layers.fc(input=x, size=5, act="relu", param_attr=fluid.ParamAttr(name="first_w"))
    out = fluid.layers.fc(input=hidden, size=2)
    loss = fluid.layers.mean(fluid.layers.square(out))
    fluid.optimizer.Adam(fluid.layers.exponential_decay(0.01, 10, 0.5)).minimize(loss)
    return out, loss


def values(program):
    return {
        v.name: np.array(fluid.global_scope().find_var(v.name).get_tensor())
        for v in program.list_vars()
        if fluid.io.is_persistable(v)
    }


def spoil(program, place):
    for v in program.list_vars():
        if fluid.io.is_persistable(v):
            tensor = fluid.global_scope().find_var(v.name).get_tensor()
            tensor.set(np.zeros_like(np.array(tensor)), place)


def main():
    place = fluid.CPUPlace()
    exe = fluid.Executor(place)
    out, loss = net()
    main_program = fluid.default_main_program()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.random.RandomState(0).rand(3, 4).astype("float32")}
    for _ in range(3):
        exe.run(feed=feed, fetch_list=[loss])
    kept = values(main_program)
    print(len(kept), "persistable,", len(main_program.all_parameters()), "parameters")

    def check(what, names=None):
        for name, value in values(main_program).items():
            if names is None or name in names:
                assert np.array_equal(value, kept[name]), (what, name)
        print(what, "ok")
        for name, value in kept.items():
            fluid.global_scope().find_var(name).get_tensor().set(value, place)

    fluid.io.save_persistables(exe, "persistables")
    fluid.io.save_persistables(exe, "combined", main_program, filename="all")
    fluid.io.save_params(exe, "params", main_program=main_program)
    fluid.io.save_vars(exe, "some", main_program, predicate=lambda v: "first" in v.name)
    fluid.io.save_vars(
        exe, "listed", main_program, vars=[main_program.global_block().var("first_w")], filename="one"
    )
    fluid.save(main_program, "state/model")
    parameters = [p.name for p in main_program.all_parameters()]

    spoil(main_program, place)
    fluid.io.load_persistables(exe, "persistables", main_program)
    check("persistables")
    spoil(main_program, place)
    fluid.io.load_persistables(exe, "combined", filename="all")
    check("combined")
    spoil(main_program, place)
    fluid.io.load_params(exe, "params", main_program)
    check("params", parameters)
    spoil(main_program, place)
    fluid.io.load_vars(exe, "some", main_program, predicate=lambda v: "first" in v.name)
    fluid.io.load_vars(exe, "listed", main_program, vars=["first_w"], filename="one")
    check("vars", ["first_w"])
    spoil(main_program, place)
    fluid.load(main_program, "state/model", exe)
    check("fluid.load")
    spoil(main_program, place)
    state = fluid.io.load_program_state("state/model")
    fluid.io.set_program_state(main_program, state)
    check("program state")
    print(
        fluid.io.get_parameter_value(main_program.global_block().var("first_w"), exe).shape,
        fluid.io.get_parameter_value_by_name("first_w", exe).shape,
    )
    fluid.io.save_inference_model(
        "infer", ["x"], [out], exe, model_filename="model", params_filename="params"
    )
    program, feeds, fetches = fluid.io.load_inference_model(
        "infer", exe, model_filename="model", params_filename="params"
    )
    assert np.allclose(
        exe.run(program, feed={feeds[0]: feed["x"]}, fetch_list=fetches)[0],
        exe.run(main_program.clone(for_test=True), feed=feed, fetch_list=[out])[0],
        rtol=1e-5,
    )
    print(sorted(os.listdir(".")))


if __name__ == "__main__":
    main()
